-- A lease has run out before this time, too, which only a clock set back shows. NULL: taken before there was this column.
ALTER TABLE change ADD COLUMN leased INTEGER;
