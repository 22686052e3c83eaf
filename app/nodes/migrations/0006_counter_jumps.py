from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("nodes", "0005_no_permissions")]

    operations = [
        migrations.AddField("nodekey", "jumped_at", models.DateTimeField(blank=True, null=True)),
        migrations.AddField("nodekey", "jumped_why", models.TextField(blank=True, default=""), preserve_default=False),
    ]
