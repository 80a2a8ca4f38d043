"""Facts about what each verb does with objects, through a server in memory."""
