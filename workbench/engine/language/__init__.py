"""How English and Chinese are read: sentences and questions, the calendar, days that are named or meant, denials."""
