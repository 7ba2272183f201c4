// The service that pipelines come from: its lists of pipelines and connections, read by the parts of them that a migration needs.
import * as z from 'zod'
import { parseJson } from '../../daemon/kernel/encoding/parse-json.ts'
import { readBody, type ServiceEndpoint, sendRequest } from '../client/http-request.ts'
import { CommandFailure } from '../program/command.ts'

const formerLabel = z.looseObject({
  policy: z.string().optional(),
  level: z.string(),
  categories: z.array(z.string()).optional(),
  releasable_to: z.array(z.string()).optional(),
})

const formerConnection = z.looseObject({
  ...{ uid: z.string(), name: z.string(), conn_type: z.string() },
  config: z.record(z.string(), z.json()).default({}),
  description: z.string().optional(),
  has_secret: z.boolean().optional(),
  classification: formerLabel.optional(),
})
export type FormerConnection = z.output<typeof formerConnection>

const formerPipeline = z.looseObject({
  ...{ uid: z.string(), dag_id: z.string(), content: z.string(), status: z.string().optional() },
  description: z.string().optional(),
  schedule: z.string().nullable().default(null),
  timezone: z.string().optional(),
  classification: formerLabel.optional(),
})
export type FormerPipeline = z.output<typeof formerPipeline>

export interface FormerService {
  connections(): Promise<readonly FormerConnection[]>
  pipelines(): Promise<readonly FormerPipeline[]>
  /** Pauses or resumes a pipeline. */
  act(uid: string, action: 'pause' | 'unpause'): Promise<void>
}

const time_limit_ms = 60_000
const max_pages = 1_000

/** Throws `CommandFailure` (1) with what the service refuses, and for answers of another form. */
export function openFormerService(endpoint: ServiceEndpoint, token: string): FormerService {
  const request = async (method: string, path: string, body?: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json', 'content-type': 'application/json' }
    const text = body && JSON.stringify(body)
    const sent = { method, path, headers, ...(text !== undefined && { body: text }), timeout_ms: time_limit_ms }
    const response = await sendRequest(endpoint, sent)
    const answer = await readBody(response)
    if (response.status < 400) return parseJson(answer)
    const { detail } = z.looseObject({ detail: z.string() }).safeParse(parseJson(answer)).data ?? {}
    throw new CommandFailure(1, `the former service refuses ${method} ${path}: ${detail ?? response.status}`)
  }
  const list = async <T extends z.ZodType>(path: string, item: T): Promise<z.output<T>[]> => {
    const page = z.looseObject({ items: z.array(item), next_cursor: z.string().optional() })
    const items: z.output<T>[] = []
    let cursor: string | undefined
    for (let pages = 0; pages < max_pages; pages++) {
      const query = new URLSearchParams({ limit: '100', ...(cursor !== undefined && { cursor }) })
      const parsed = page.safeParse(await request('GET', `${path}?${query}`))
      if (!parsed.success) throw foreignAnswer(path, parsed.error)
      items.push(...parsed.data.items)
      cursor = parsed.data.next_cursor
      if (cursor === undefined) return items
    }
    throw new CommandFailure(1, `the former service does not end its list ${path}`)
  }
  return {
    connections: async () => await list('/connection', formerConnection),
    pipelines: async () => await list('/datapipeline', formerPipeline),
    act: async (uid, action) => void (await request('PATCH', `/datapipeline/${encodeURIComponent(uid)}`, { action })),
  }
}

function foreignAnswer(path: string, { issues: [issue] }: z.ZodError): CommandFailure {
  const place = issue?.path.join('.') ?? ''
  return new CommandFailure(1, `the former service answers ${path} in another form: ${place}: ${issue?.message}`)
}
