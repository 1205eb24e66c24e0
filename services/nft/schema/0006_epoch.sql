-- The writer of every row, see services/common/writer/fence.ts; 0 for rows of before. A DELETE leaves rows of later
-- writers alone.
{{add chain epoch UInt64}}
{{add blocks epoch UInt64}}
{{add changes epoch UInt64}}
{{add history epoch UInt64}}
{{add tokens epoch UInt64}}
{{add items epoch UInt64}}
{{add counts epoch UInt64}}
{{add objects epoch UInt64}}
{{add contracts epoch UInt64}}
{{add births epoch UInt64}}
{{add classes epoch UInt64}}
{{add asks epoch UInt64}}
{{add asked epoch UInt64}}
{{add jobs epoch UInt64}}
{{add collections epoch UInt64}}
{{add collection_order epoch UInt64}}
{{add uris epoch UInt64}}
{{add editions epoch UInt64}}
{{add cuts epoch UInt64}}

-- Where a cut ends: see services/common/cuts.ts.
{{add cuts height UInt64}}
{{add cuts top UInt64}}
