// One plain request to a running site, with its whole answer.
import { once } from 'node:events'
import * as http from 'node:http'
import { text as readText } from 'node:stream/consumers'
import type { HttpMethod } from '../../../daemon/kernel/operation/operation.ts'

export type HttpCallResponse = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed text; undefined where it is not JSON. */
  readonly json: unknown
}

/** `url`: of a listener, or `unix:` and the path of a socket. */
export async function sendHttpRequest(
  url: string,
  method: HttpMethod,
  at: string,
  body?: unknown,
  options: { token?: string; headers?: Readonly<Record<string, string>> } = {},
): Promise<HttpCallResponse> {
  const headers = {
    ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...options.headers,
  }
  const content = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  if (url.startsWith('unix:'))
    return await sendOverSocket(url.slice('unix:'.length), { method, path: at, headers }, content)
  const answer = await fetch(`${url}${at}`, { method, headers, ...(content === undefined ? {} : { body: content }) })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, text, json: parseJson(text) }
}

async function sendOverSocket(socketPath: string, options: http.RequestOptions, content: string | undefined) {
  const request = http.request({ ...options, socketPath }).end(content)
  const [answer] = (await once(request, 'response')) as [http.IncomingMessage]
  const text = await readText(answer)
  const headers = new Headers(answer.headers as Record<string, string>)
  return { status: answer.statusCode ?? 0, headers, text, json: parseJson(text) }
}

/** Whether a token is that of a role, or held by one: without the certificate of the role, local sockets alone accept it. */
export function isRoleToken(token: string | undefined): boolean {
  const claims = parseJson(Buffer.from(token?.split('.')[1] ?? '', 'base64url').toString()) as
    | { sub?: string; roles?: string[]; act?: { sub?: string } }
    | undefined
  const isOwn = claims?.sub?.startsWith('role:') === true && claims.roles?.join() === 'service'
  return isOwn || claims?.act?.sub?.startsWith('role:') === true
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
