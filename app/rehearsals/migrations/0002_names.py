from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("rehearsals", "0001_initial")]

    operations = [
        migrations.RenameField("rehearsal", "told", "result"),
        migrations.RenameField("rehearsal", "heard_at", "reported_at"),
    ]
