// Reads server-sent events from a running site, until a test has seen enough or the stream ends.

export type ReceivedEvent = { readonly id: string; readonly event: string; readonly data: unknown }

export type EventReader = {
  readonly status: number
  readonly content_type: string | null
  readonly events: readonly ReceivedEvent[]
  /** Resolves when the server has ended the stream, or the reader has left. */
  readonly ended: Promise<void>
  close(): void
}

/** Resolves once the head of the answer is there. `after`: the Last-Event-ID. */
export async function openEventReader(url: string, at: string, token: string, after?: string): Promise<EventReader> {
  const leaving = new AbortController()
  const answer = await fetch(`${url}${at}`, {
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'text/event-stream',
      ...(after === undefined ? {} : { 'last-event-id': after }),
    },
    signal: leaving.signal,
  })
  const seen: ReceivedEvent[] = []
  return {
    status: answer.status,
    content_type: answer.headers.get('content-type'),
    events: seen,
    ended: collectEvents(answer, seen).catch((error: unknown) => {
      if (!leaving.signal.aborted) throw error
    }),
    close: () => leaving.abort(),
  }
}

async function collectEvents(answer: Response, seen: ReceivedEvent[]): Promise<void> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const bytes of answer.body ?? []) {
    const frames = (rest + decoder.decode(bytes as Uint8Array, { stream: true })).split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) seen.push(...parseEvents(frame))
  }
}

/** Comments and retry advice carry no data and are not events. */
function parseEvents(frame: string): ReceivedEvent[] {
  const fields = new Map(
    frame.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)] as const),
  )
  const data = fields.get('data')
  if (data === undefined) return []
  return [{ id: fields.get('id') ?? '', event: fields.get('event') ?? '', data: JSON.parse(data) }]
}
