// Answers of the proxy itself, as problem documents (RFC 9457).
import { errorTable } from '../../../kernel/error/errors.ts'

/** `request_id`: how the configuration of the proxy names the id of a request. None of the texts has a quote, `$` or braces. */
export function formatProxyProblem(code: keyof typeof proxyAnswers, request_id: string): string {
  const { status, title, detail } = proxyAnswers[code]
  const instance = request_id
  return JSON.stringify({ type: `urn:platform:problem:${code}`, title, status, detail, instance, code, errors: [] })
}

const answer = (row: { status: number; title: string }, detail: string) => ({
  status: row.status,
  title: row.title,
  detail,
})

export const proxyAnswers = {
  malformed: answer(errorTable.malformed, 'the path has more than one meaning'),
  not_found: answer(errorTable.not_found, 'no service has this path'),
  no_backend: {
    status: 503,
    title: 'No process of the service that owns this is available',
    detail: 'the service that owns this path has no process at this site',
  },
} as const
