/**
 * A name as it is searched: upper and lower case are the same, in every script. The final
 * sigma is a letter of its own in lower case, and which one it is depends on what follows.
 */
export const fold = (name: string): string => name.toLowerCase().replaceAll('ς', 'σ');
