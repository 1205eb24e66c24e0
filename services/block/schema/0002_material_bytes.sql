-- Bytes of a block's material and of its traces before they were compressed; 0 in rows of versions that did not write it.
{{add blocks material_bytes UInt64}}
{{add traces material_bytes UInt64}}
