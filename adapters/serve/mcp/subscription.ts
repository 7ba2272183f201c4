// A subscription of the revision without sessions: the library words its events, which are passed on one by one.
import type { SurfaceRequest, SurfaceResponse, SurfaceStream } from '../../../daemon/kernel/api/surface.ts'
import { readEventField } from '../../../daemon/kernel/encoding/event-blocks.ts'
import { parseJson } from '../../../daemon/kernel/encoding/parse-json.ts'
import type { ServerEvent } from '../../../daemon/kernel/operation/operation.ts'
import { type ListChanges, type ListName, readListedState, watchLists } from './watch-lists.ts'

/** The library's answer to a subscription, and how it is made to word a notification. */
type LibrarySubscription = { readonly response: Response; readonly reportChange: (list: ListName) => void }

type FrameReader = ReadableStreamDefaultReader<Uint8Array>

export function isEventStream({ headers, body }: Response): boolean {
  return body !== null && /^text\/event-stream\b/i.test(headers.get('content-type') ?? '')
}

/** A stream of changes; one whole answer for a subscription to nothing that this service reports, which ends at once. */
export async function openSubscription(
  listChanges: ListChanges,
  surfaceRequest: SurfaceRequest & { readonly body: undefined },
  { response, reportChange }: LibrarySubscription,
): Promise<SurfaceResponse | SurfaceStream> {
  const frames = (response.body as ReadableStream<Uint8Array>).getReader()
  const acknowledgement = await readFrame(frames)
  const lists = readAcknowledged(acknowledgement)
  if (lists.size > 0) {
    const subscription = { frames, acknowledgement, lists, reportChange }
    const events = subscriptionEvents(listChanges, surfaceRequest, subscription)
    return { status: 200, headers: {}, events }
  }
  let text = acknowledgement ?? ''
  for (let frame = await readFrame(frames); frame !== undefined; frame = await readFrame(frames)) text += frame
  return { status: response.status, headers: { 'content-type': 'text/event-stream' }, text }
}

type OpenSubscription = {
  readonly frames: FrameReader
  readonly acknowledgement: string | undefined
  readonly lists: ReadonlySet<ListName>
  readonly reportChange: (list: ListName) => void
}

async function* subscriptionEvents(
  listChanges: ListChanges,
  surfaceRequest: SurfaceRequest,
  { frames, acknowledgement, lists, reportChange }: OpenSubscription,
): AsyncGenerator<ServerEvent> {
  // As of the acknowledgement: what the client reads after it is this list, or one that it is notified of.
  const state = readListedState(listChanges, surfaceRequest.caller)
  try {
    yield toEvent(acknowledgement)
    for await (const list of watchLists(listChanges, surfaceRequest, state, surfaceRequest.signal)) {
      // Of another one the library words nothing, which would be waited for.
      if (!lists.has(list)) continue
      reportChange(list)
      yield toEvent(await readFrame(frames))
    }
  } finally {
    await frames.cancel()
  }
}

/** The library writes each message as one chunk; undefined at the end. */
async function readFrame(frames: FrameReader): Promise<string | undefined> {
  const { value } = await frames.read()
  return value && Buffer.from(value).toString()
}

function toEvent(frame = ''): ServerEvent {
  const [event = 'message'] = readEventField(frame, 'event')
  const [data = 'null'] = readEventField(frame, 'data')
  return { event, data: parseJson(data) }
}

/** The lists whose changes the library has promised to report: a client may subscribe to nothing, or to other things. */
function readAcknowledged(frame: string | undefined): ReadonlySet<ListName> {
  const message = toEvent(frame).data as { params?: { notifications?: Partial<Record<string, unknown>> } } | null
  const { toolsListChanged, resourcesListChanged } = message?.params?.notifications ?? {}
  return new Set([
    ...(toolsListChanged === true ? (['tools'] as const) : []),
    ...(resourcesListChanged === true ? (['resources'] as const) : []),
  ])
}
