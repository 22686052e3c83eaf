from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("nodes", "0004_sealed_secrets")]

    operations = [migrations.AlterModelOptions(name="nodekey", options={})]
