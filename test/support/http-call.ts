// One plain request to a running site, with its whole answer.

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export type HttpAnswer = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed text; undefined where it is no JSON. */
  readonly json: unknown
}

export async function httpCall(
  url: string,
  method: Method,
  at: string,
  body?: unknown,
  given: { token?: string; headers?: Readonly<Record<string, string>> } = {},
): Promise<HttpAnswer> {
  const answer = await fetch(`${url}${at}`, {
    method,
    headers: {
      ...(given.token === undefined ? {} : { authorization: `Bearer ${given.token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...given.headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, text, json: jsonIn(text) }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
