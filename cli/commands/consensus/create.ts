// Opens a session.

import { formatSession } from '../../format/session.ts'
import { classificationOptions, resolveClassification } from '../../options/classification.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { choice, decimal, instant, integer, nameList, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'consensus create',
  summary: 'open a session',
  options: {
    lens: required(text('ID', 'the lens that the opinions are formed with')),
    lensVersion: required(text('VERSION', 'its version')),
    m: required(integer('M', 'distinct contributors needed before anything is decided', 1, 1_000)),
    n: required(integer('N', 'most contributors', 1, 1_000)),
    method: choice('METHOD', 'how opinions are combined', ['weighted_average', 'dempster_shafer']),
    ratify: decimal('SHARE', 'score from which a match is ratified', 0.5, 1),
    conflict: decimal('SHARE', 'conflict from which the session is in conflict', 0, 1),
    contributors: nameList('A,B', 'the only contributors accepted: exactly n'),
    deadline: instant('TIME', 'after which an undecided session is in conflict'),
    kind: text('KIND', 'what is compared, as in entity_match'),
    left: text('ID', 'the one side of it'),
    right: text('ID', 'the other side'),
    correlation: text('ID', 'uid of the EntityMatch that the session decides'),
    invite: nameList('PEER,...', 'peers that may contribute'),
    idempotencyKey: text('KEY', 'a repeat with the same key finds the same session'),
    ...classificationOptions,
    ...serviceOptions,
  },
  example: 'platform consensus create --lens person-v1 --lens-version 1 --m 2 --n 3 --classification RESTRICTED',
  async run(given, terminal) {
    const { lens, lensVersion, m, n, method, ratify, conflict, contributors, deadline, invite, idempotencyKey } = given
    const api = await connectService(given, terminal)
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
        classification: await resolveClassification(given, terminal),
        subject: buildSubject(given),
        ...(invite.length ? { invite } : {}),
      },
      idempotencyKey ? { idempotency_key: idempotencyKey } : {},
    )
    printResult(terminal, given.json, session, () => formatSession(terminal, session))
    return 0
  },
})

type SessionSubjectInput = { readonly [K in 'kind' | 'left' | 'right' | 'correlation']: string | undefined }

function buildSubject({ kind, left, right, correlation }: SessionSubjectInput) {
  if (!kind && !left && !right && !correlation) return undefined
  if (!kind || !left || !right) throw new CommandFailure(2, 'a subject needs --kind, --left and --right')
  return { kind, left, right, ...(correlation ? { correlation_id: correlation } : {}) }
}
