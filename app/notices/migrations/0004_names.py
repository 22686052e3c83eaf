from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("notices", "0003_ends_of_earlier_notices")]

    operations = [
        migrations.RenameField("happening", "said", "details"),
        migrations.RenameField("hook", "heard_at", "received_at"),
        migrations.RenameField("outsidealert", "heard_at", "received_at"),
    ]
