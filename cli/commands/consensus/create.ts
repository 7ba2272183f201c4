// Opens a session.

import { listChoices } from '../../client/operations.ts'
import { formatSession } from '../../format/session.ts'
import { classificationOptions, resolveClassification } from '../../options/classification.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { choice, decimal, instant, integer, nameList, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'consensus create',
  summary: 'Open a session',
  options: {
    lens: required(text('ID', 'Lens of the contributions')),
    lensVersion: required(text('VERSION', 'Version of the lens')),
    m: required(integer('M', 'Distinct contributors needed for a decision', 1, 1_000)),
    n: required(integer('N', 'Maximum number of contributors', 1, 1_000)),
    method: choice(
      'METHOD',
      'Combination method; default: weighted_average',
      await listChoices('consensus.session.create', 'policy.combination_method'),
    ),
    ratify: decimal('SHARE', 'Score at or above which a match is ratified (default: 0.8)', 0.5, 1),
    conflict: decimal('SHARE', 'Conflict at or above which the session is in conflict (default: 0.5)', 0, 1),
    contributors: nameList('A,B', 'Only contributors to accept: exactly n (default: any that are enrolled)'),
    deadline: instant('TIME', 'Time at which an undecided session becomes in conflict (default: none)'),
    kind: text('KIND', 'Kind of the subject, such as entity_match (default: no subject)'),
    left: text('ID', 'Left record of the pair'),
    right: text('ID', 'Right record of the pair'),
    correlation: text('ID', 'Uid of the EntityMatch that the session decides'),
    invite: nameList('PEER,...', 'Peers that may contribute (default: none)'),
    supersedes: text('SESSION', 'Ratified session that this one takes the place of (default: none)'),
    idempotencyKey: text('KEY', 'Idempotency key: a repeat with the same key returns the same session'),
    ...classificationOptions,
    ...serviceOptions,
  },
  example: 'platform consensus create --lens person-v1 --lens-version 1 --m 2 --n 3 --classification RESTRICTED',
  async run(params, terminal) {
    const { lens, lensVersion, m, n, method, ratify, conflict, contributors, deadline, invite, idempotencyKey } = params
    const api = await connectService(params, terminal)
    const policy = {
      m,
      n,
      ...(method ? { combination_method: method } : {}),
      ...(ratify === undefined ? {} : { ratify_threshold: ratify }),
      ...(conflict === undefined ? {} : { conflict_threshold: conflict }),
      ...(contributors.length ? { contributors } : {}),
      ...(deadline ? { deadline } : {}),
    }
    const session = await api.call(
      'consensus.session.create',
      {
        lens_id: lens,
        lens_version: lensVersion,
        policy,
        classification: await resolveClassification(params, terminal),
        subject: buildSubject(params),
        ...(invite.length ? { invite } : {}),
        ...(params.supersedes === undefined ? {} : { supersedes: params.supersedes }),
      },
      idempotencyKey ? { idempotency_key: idempotencyKey } : {},
    )
    printResult(terminal, params.json, session, () => formatSession(terminal, session))
    return 0
  },
})

type SessionSubjectInput = { readonly [K in 'kind' | 'left' | 'right' | 'correlation']: string | undefined }

function buildSubject({ kind, left, right, correlation }: SessionSubjectInput) {
  if (!kind && !left && !right && !correlation) return undefined
  if (!kind || !left || !right)
    throw new CommandFailure(2, 'the subject is incomplete: pass --kind, --left and --right together')
  return { kind, left, right, ...(correlation ? { correlation_id: correlation } : {}) }
}
