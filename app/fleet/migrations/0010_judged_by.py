from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("fleet", "0009_worst_by_what_is_left"),
    ]

    operations = [
        migrations.AddField(
            model_name="standing",
            name="judged_by",
            field=models.CharField(blank=True, default="", max_length=16),
        ),
    ]
