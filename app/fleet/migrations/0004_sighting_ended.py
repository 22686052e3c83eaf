from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("fleet", "0003_reports")]

    operations = [
        migrations.AddIndex(
            model_name="sighting",
            index=models.Index(condition=models.Q(("until__isnull", True), _negated=True), fields=["until"], name="sighting_ended"),
        ),
    ]
