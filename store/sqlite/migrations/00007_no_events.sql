-- Nobody told anything by it: processes follow change_event.
DROP TABLE event;
