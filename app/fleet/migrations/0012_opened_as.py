from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("fleet", "0011_reviewed_words")]

    operations = [
        migrations.AddField(
            model_name="situation", name="opened_as", field=models.TextField(blank=True, default=""), preserve_default=False
        ),
    ]
