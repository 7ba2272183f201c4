// The target of a task with what its requests need: address rule, credential and authorities, read for each use.
import { createHash } from 'node:crypto'
import { isWithinSource } from '../../../../adapters/ingest-source/http/download-file.ts'
import {
  requestAnswer,
  type ServiceAnswer,
  type ServiceRequest,
} from '../../../../adapters/ingest-source/http/request-answer.ts'
import { type AddressRule, addressRule } from '../../../../adapters/platform/address-rule/address-rule.ts'
import { parseJson } from '../../../kernel/encoding/parse-json.ts'
import type { TaskTarget } from '../../../roles/ingest/http-target/model.ts'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'
import { readAuthorities } from '../http-source/read-authorities.ts'
import { readAuthorization } from '../http-source/read-authorization.ts'
import type { TaskThreadJob } from '../thread-job.ts'

export type OpenTarget = Pick<TaskTarget, 'name' | 'max_bytes' | 'is_answer_kept'> & {
  readonly base: URL
  readonly timeout_ms: number
  readonly rule: AddressRule
  readonly authorization: string | undefined
  readonly ca: string | undefined
}

/** Throws `RowSourceError`. */
export function openTarget({ http_target: target, trusted_networks }: TaskThreadJob): OpenTarget {
  if (!target)
    throw new RowSourceError('the task has no target: the service alone sends requests to those of its profile')
  const { name, url, max_bytes, is_answer_kept, timeout_s, authorization_file, ca_file } = target
  return {
    ...{ name, max_bytes, is_answer_kept, base: new URL(url), timeout_ms: timeout_s * 1_000 },
    rule: addressRule(trusted_networks),
    authorization: readAuthorization(authorization_file, 'target'),
    ca: ca_file === undefined ? undefined : readAuthorities(ca_file),
  }
}

/** The URL of a path below that of the target. Throws `RowSourceError` for one that leads elsewhere, or has an empty segment. */
export function urlWithin({ base }: OpenTarget, path: string): URL {
  const url = URL.parse(path === '' ? base.href : `${base.href.replace(/\/$/, '')}/${path}`)
  if (path !== '' && path.replace(/\?.*/s, '').split('/').includes(''))
    throw new RowSourceError(
      'the path has an empty segment, as by an empty value of a response: another place would get the request',
    )
  const hasDots = path.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment))
  if (url && !hasDots && isWithinSource(url, base)) return url
  throw new RowSourceError('the path leads out of the target')
}

/** Throws as `requestAnswer` does. */
export async function sendToTarget(
  target: OpenTarget,
  url: URL,
  request: ServiceRequest,
  signal: AbortSignal,
): Promise<ServiceAnswer> {
  return await requestAnswer(url, request, target, signal)
}

/** The same for each try of a task: a system that honours it does nothing twice. */
export function keyOfTask({ run, task }: TaskThreadJob): string {
  return createHash('sha256').update(`${run}/${task.name}`).digest('hex')
}

const shown_characters = 500

/** Of a problem document alone: another body may have secrets. */
export function describeProblem(text: string): string {
  const problem = parseJson(text)
  if (typeof problem !== 'object' || problem === null) return ''
  const { code, detail, title } = problem as Record<string, unknown>
  const parts = [code, detail ?? title].filter((part) => typeof part === 'string')
  return parts.length === 0 ? '' : ` (${parts.join(': ').slice(0, shown_characters).toWellFormed()})`
}
