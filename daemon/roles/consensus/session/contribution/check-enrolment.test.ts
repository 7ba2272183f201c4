// Callers that may contribute in the name of a contributor.
import { expect, test } from 'vitest'
import { isRefusal } from '../../../../kernel/error/errors.ts'
import type { Contributor } from '../../contributor/model.ts'
import { checkEnrolment } from './check-enrolment.ts'

const enrol = (name: string, signer_keys: string[], spoken_for_by: string[]): Contributor => ({
  ...{ name, signer_keys, spoken_for_by, origin: 'profile' },
})
const alice = enrol('alice', ['alice-1', 'alice-2'], [])
const sensor = enrol('sensor', ['sensor-1'], ['alice', 'robot'])

test.each([
  ['itself', 'alice', 'alice-2', alice],
  ['a contributor that it may submit for', 'robot', 'sensor-1', sensor],
] as const)('a subject may contribute as %s, with an enrolled key', (_case, subject, key, contributor) => {
  expect(checkEnrolment({ subject }, key, contributor)).toBeUndefined()
})

test.each([
  ['a key of another contributor', 'alice', 'sensor-1', alice],
  ['a contributor who has not named it', 'robot', 'alice-1', alice],
  ['a stranger', 'alice', 'alice-1', undefined],
] as const)('is refused with or as %s, always with the same message', (_case, subject, key, contributor) => {
  const refusal = checkEnrolment({ subject }, key, contributor)
  expect(isRefusal(refusal) && [refusal.code, refusal.message]).toEqual([
    'not_contributor',
    `the caller may not submit for this contributor, or the key is not enrolled for it; you are \`${subject}\`; contributors are in consensus.contributors, or enrolled: platform consensus contributor list`,
  ])
})
