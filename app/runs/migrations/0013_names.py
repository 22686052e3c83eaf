from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("runs", "0012_several_disks")]

    operations = [migrations.RenameField("keyrotation", "said", "statement")]
