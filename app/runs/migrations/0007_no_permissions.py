from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("runs", "0006_unattended")]

    operations = [migrations.AlterModelOptions(name="run", options={"ordering": ("-created_at",)})]
