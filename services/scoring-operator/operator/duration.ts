const seconds: Readonly<Record<string, number>> = { h: 3_600, m: 60, s: 1 };

/** Seconds of a duration as Go writes it, such as 1h30m or 600s. @throws Error for any other text */
export function toSeconds(duration: string): number {
  if (!/^(\d+[hms])+$/.test(duration)) throw new Error(`${JSON.stringify(duration)} is no duration`);
  return [...duration.matchAll(/(\d+)([hms])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (seconds[unit as string] as number),
    0,
  );
}
