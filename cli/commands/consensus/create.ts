// Opens a session.
import { classificationOf, classificationOptions } from '../../classification.ts'
import { command, Failure } from '../../command.ts'
import { show } from '../../output.ts'
import { choice, decimal, instant, names, needed, text, whole } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'
import { sessionText } from '../../session-text.ts'

export const definition = command({
  words: 'consensus create',
  summary: 'open a session',
  options: {
    lens: needed(text('ID', 'the lens that the opinions are formed with')),
    lensVersion: needed(text('VERSION', 'its version')),
    m: needed(whole('M', 'distinct contributors needed before anything is decided', 1, 1_000)),
    n: needed(whole('N', 'most contributors', 1, 1_000)),
    method: choice('METHOD', 'how opinions are combined', ['weighted_average', 'dempster_shafer']),
    ratify: decimal('SHARE', 'score from which a match is ratified', 0.5, 1),
    conflict: decimal('SHARE', 'conflict from which the session is in conflict', 0, 1),
    contributors: names('A,B', 'the only contributors accepted: exactly n'),
    deadline: instant('TIME', 'after which an undecided session is in conflict'),
    kind: text('KIND', 'what is compared, as in entity_match'),
    left: text('ID', 'the one side of it'),
    right: text('ID', 'the other side'),
    correlation: text('ID', 'uid of the EntityMatch that the session decides'),
    invite: names('PEER,...', 'peers that may contribute'),
    idempotencyKey: text('KEY', 'a repeat with the same key finds the same session'),
    ...classificationOptions,
    ...serviceOptions,
  },
  example: 'platform consensus create --lens person-v1 --lens-version 1 --m 2 --n 3 --classification RESTRICTED',
  async run(given, terminal) {
    const { lens, lensVersion, m, n, method, ratify, conflict, contributors, deadline, invite, idempotencyKey } = given
    const api = await service(given, terminal)
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
        classification: await classificationOf(given, terminal),
        subject: subjectOf(given),
        ...(invite.length ? { invite } : {}),
      },
      idempotencyKey ? { idempotency_key: idempotencyKey } : {},
    )
    show(terminal, given.json, session, () => sessionText(terminal, session))
    return 0
  },
})

type Typed = { readonly [K in 'kind' | 'left' | 'right' | 'correlation']: string | undefined }

function subjectOf({ kind, left, right, correlation }: Typed) {
  if (!kind && !left && !right && !correlation) return undefined
  if (!kind || !left || !right) throw new Failure(2, 'a subject needs --kind, --left and --right')
  return { kind, left, right, ...(correlation ? { correlation_id: correlation } : {}) }
}
