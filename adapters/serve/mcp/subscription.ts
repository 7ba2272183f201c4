// A subscription of the revision without sessions: the library words its events, which are passed on one by one.
import type { SurfaceRequest, SurfaceResponse, SurfaceStream } from '../../../daemon/kernel/api/surface.ts'
import { readEventField } from '../../../daemon/kernel/encoding/event-blocks.ts'
import { parseJson } from '../../../daemon/kernel/encoding/parse-json.ts'
import type { ServerEvent } from '../../../daemon/kernel/operation/operation.ts'
import { type ToolChanges, watchTools } from './watch-tools.ts'

/** The library's answer to a subscription, and how it is made to word a notification. */
type LibrarySubscription = { readonly response: Response; readonly reportChange: () => void }

type FrameReader = ReadableStreamDefaultReader<Uint8Array>

export function isEventStream({ headers, body }: Response): boolean {
  return body !== null && /^text\/event-stream\b/i.test(headers.get('content-type') ?? '')
}

/** A stream of changes; one whole answer for a subscription to nothing that this service reports, which ends at once. */
export async function openSubscription(
  toolChanges: ToolChanges,
  surfaceRequest: SurfaceRequest & { readonly body: undefined },
  { response, reportChange }: LibrarySubscription,
): Promise<SurfaceResponse | SurfaceStream> {
  const frames = (response.body as ReadableStream<Uint8Array>).getReader()
  const acknowledgement = await readFrame(frames)
  if (isAcknowledged(acknowledgement)) {
    const events = subscriptionEvents(toolChanges, surfaceRequest, { frames, acknowledgement, reportChange })
    return { status: 200, headers: {}, events }
  }
  let text = acknowledgement ?? ''
  for (let frame = await readFrame(frames); frame !== undefined; frame = await readFrame(frames)) text += frame
  return { status: response.status, headers: { 'content-type': 'text/event-stream' }, text }
}

type OpenSubscription = {
  readonly frames: FrameReader
  readonly acknowledgement: string | undefined
  readonly reportChange: () => void
}

async function* subscriptionEvents(
  toolChanges: ToolChanges,
  surfaceRequest: SurfaceRequest,
  { frames, acknowledgement, reportChange }: OpenSubscription,
): AsyncGenerator<ServerEvent> {
  // As of the acknowledgement: what the client reads after it is this list, or one that it is notified of.
  const state = { listed: toolChanges.catalogue.stateFor(surfaceRequest.caller) }
  try {
    yield toEvent(acknowledgement)
    for await (const _ of watchTools(toolChanges, surfaceRequest, state, surfaceRequest.signal)) {
      reportChange()
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

/** Whether the library has promised to report changes of tools: a client may subscribe to nothing, or to other things. */
function isAcknowledged(frame: string | undefined): boolean {
  const message = toEvent(frame).data as { params?: { notifications?: { toolsListChanged?: unknown } } } | null
  return message?.params?.notifications?.toolsListChanged === true
}
