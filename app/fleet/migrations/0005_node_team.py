import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_teams"), ("fleet", "0004_sighting_ended")]

    operations = [
        migrations.AddField(
            model_name="node",
            name="team",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="nodes",
                to="accounts.team",
            ),
        ),
    ]
