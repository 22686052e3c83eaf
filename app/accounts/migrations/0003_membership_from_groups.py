from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_teams")]

    operations = [migrations.AddField(model_name="membership", name="from_groups", field=models.BooleanField(default=False))]
