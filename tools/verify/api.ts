import { Agent, request } from 'undici';
import { sleep } from '../../services/common/runtime/lifecycle.js';

/** The HTTP API of the index. */
export interface Api {
  /** The answer to a path; undefined for 404. @throws ApiUnavailable */
  get<T>(path: string): Promise<T | undefined>;
  /** Every item of a list, oldest first, page by page. @throws ApiUnavailable */
  list<T>(path: string, member: string, most?: number): Promise<T[]>;
  close(): Promise<void>;
}

/** The API does not answer, or not as it should; it may later. */
export class ApiUnavailable extends Error {
  override name = 'ApiUnavailable';

  constructor(
    readonly path: string,
    /** What came last: an HTTP status with the beginning of its body, or why there was none. */
    readonly said: string,
    /** Whether an answer came at all. */
    readonly isAnswered: boolean,
  ) {
    super(`${path}: ${said}`);
  }
}

/** Attempts for an answer, and the pause between them in milliseconds. */
const [attempts, pause_ms] = [4, 250];

/** Items of a page: as many as the API gives at once. */
const pageSize = 1_000;

/** Asks an API. @param base its URL, without a trailing slash. */
export function createApi(base: string, signal: AbortSignal): Api {
  const dispatcher = new Agent({ connections: 8 });
  const get = async <T>(path: string): Promise<T | undefined> => {
    let [said, isAnswered] = ['', false];
    for (let attempt = 0; attempt < attempts && !signal.aborted; attempt++) {
      if (attempt > 0) await sleep(pause_ms * attempt, signal);
      try {
        const response = await request(base + path, { dispatcher, signal });
        const text = await response.body.text();
        isAnswered = true;
        if (response.statusCode === 404) return undefined;
        if (response.statusCode === 200) return JSON.parse(text) as T;
        said = `HTTP ${response.statusCode} ${text.slice(0, 200)}`;
        if (response.statusCode < 500 && response.statusCode !== 429) break;
      } catch (error) {
        [said, isAnswered] = [String(error), false];
      }
    }
    throw new ApiUnavailable(base + path, said, isAnswered);
  };
  return {
    get,
    close: () => dispatcher.destroy(),
    async list<T>(path: string, member: string, most = Number.POSITIVE_INFINITY) {
      const items: T[] = [];
      let key = '';
      do {
        const limit = Math.min(pageSize, most - items.length);
        const query = `pagination.limit=${limit}&pagination.reverse=false&pagination.count_total=false&pagination.key=${encodeURIComponent(key)}`;
        const page = await get<Record<string, unknown> & { pagination: { next_key: string | null } }>(
          `${path}${path.includes('?') ? '&' : '?'}${query}`,
        );
        if (page === undefined) return items;
        items.push(...(page[member] as T[]));
        key = page.pagination.next_key ?? '';
      } while (key !== '' && items.length < most);
      return items;
    },
  };
}
