// One plain request to a running site, with its whole answer.

export type HttpCallMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'

export type HttpCallResponse = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed text; undefined where it is not JSON. */
  readonly json: unknown
}

export async function sendHttpRequest(
  url: string,
  method: HttpCallMethod,
  at: string,
  body?: unknown,
  options: { token?: string; headers?: Readonly<Record<string, string>> } = {},
): Promise<HttpCallResponse> {
  const answer = await fetch(`${url}${at}`, {
    method,
    headers: {
      ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, text, json: parseJson(text) }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
