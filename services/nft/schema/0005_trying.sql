-- What is being asked of the node right now, so that a process that was killed by an answer does not die of it again
-- after every restart: asks up to a place, and jobs up to their time in milliseconds; 0 for none. `deaths` is 0 for a
-- round of many tasks; for one that is tried alone it is how often a process has ended with it under way, from 1 on.
{{add asked trying_asks UInt64}}
{{add asked trying_jobs UInt64}}
{{add asked deaths UInt8}}
