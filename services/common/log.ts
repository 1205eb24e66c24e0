import { pino } from 'pino';

/** A logger that writes JSON lines; children carry the service and the request id. */
export type Log = pino.Logger;

/** Levels that LOG_LEVEL takes, the most talkative first. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/**
 * The process's root logger.
 *
 * @param level the least level that is written.
 * @param destination where lines go: a file descriptor or a path; standard output by default.
 */
export function createLog(level: (typeof logLevels)[number], destination: number | string = 1): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ dest: destination, sync: true, mkdir: true }),
  );
}
