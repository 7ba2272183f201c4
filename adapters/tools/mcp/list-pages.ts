// Reads a list of a service page by page, to its end or to the limits on a service that is not trusted.
import { refuse } from '../../../daemon/kernel/error/errors.ts'
import type { ToolServiceLimits } from '../../../daemon/kernel/tools/tool-service.ts'

/** A service that never ends its list is at fault. */
const max_pages = 64

export type ListedKind = 'tools' | 'resources' | 'resource templates'

export type RemotePage<T> = { readonly items: readonly T[]; readonly nextCursor?: string | undefined }

type PagedList<T> = {
  /** How refusals name the service, and what it lists. */
  readonly service: string
  readonly what: ListedKind
  readonly limits: ToolServiceLimits
  readonly keyOf: (item: T) => string
  readonly readPage: (params: { readonly cursor?: string }) => Promise<RemotePage<T>>
}

/** By key, of which the last one counts. Throws `Refusal` for a list beyond the limits. */
export async function listPages<T>({ service, what, limits, keyOf, readPage }: PagedList<T>): Promise<readonly T[]> {
  const listed = new Map<string, T>()
  let cursor: string | undefined
  let bytes = 0
  for (let page = 0; page < max_pages; page += 1) {
    const { items, nextCursor } = await readPage(cursor === undefined ? {} : { cursor })
    bytes += JSON.stringify(items).length
    if (bytes > limits.answer_bytes)
      throw refuse('unavailable', `${service} lists ${what} of more than ${limits.answer_bytes} bytes`)
    for (const item of items) listed.set(keyOf(item), item)
    if (listed.size > limits.tools)
      throw refuse('unavailable', `${service} lists more than the ${limits.tools} ${what} that are accepted`)
    cursor = nextCursor
    if (cursor === undefined) return [...listed.values()]
  }
  throw refuse('unavailable', `${service} lists its ${what} on more than ${max_pages} pages`)
}
