// Callers that may contribute in the name of a contributor.
import { expect, test } from 'vitest'
import { isRefusal } from '../../../../kernel/error/errors.ts'
import type { Caller } from '../../../../kernel/identity/identity.ts'
import { checkEnrolment } from './check-enrolment.ts'

const enrolled = {
  alice: { signer_keys: ['alice-1', 'alice-2'], spoken_for_by: [] },
  sensor: { signer_keys: ['sensor-1'], spoken_for_by: ['alice', 'robot'] },
  local: { signer_keys: ['local-1'], spoken_for_by: ['alice'], tenant_id: 'tenant-b' },
}

function caller(subject: string, tenant_id = 'tenant-a'): Caller {
  return { subject, tenant_id, roles: [], permissions: new Set(), clearance: undefined }
}

test.each([
  ['itself', caller('alice'), 'alice', 'alice-2'],
  ['a contributor that it may submit for', caller('robot'), 'sensor', 'sensor-1'],
  ['a contributor bound to its tenant', caller('alice', 'tenant-b'), 'local', 'local-1'],
])('a subject may contribute as %s, with an enrolled key', (_case, subject, contributor, key) => {
  expect(checkEnrolment(subject, contributor, key, enrolled)).toBeUndefined()
})

test.each([
  ['a key of another contributor', caller('alice'), 'alice', 'sensor-1'],
  ['a contributor who has not named it', caller('robot'), 'alice', 'alice-1'],
  ['a contributor bound to another tenant', caller('alice'), 'local', 'local-1'],
  ['a stranger', caller('alice'), 'nobody', 'alice-1'],
  ['itself, not enrolled', caller('robot'), 'robot', 'robot-1'],
  ['a name that every object has', caller('toString'), 'toString', 'x'],
])('is refused with or as %s, always with the same message', (_case, subject, contributor, key) => {
  const refusal = checkEnrolment(subject, contributor, key, enrolled)
  expect(isRefusal(refusal) && [refusal.code, refusal.message]).toEqual([
    'not_contributor',
    'the caller may not submit for this contributor, or the key is not enrolled for it; see consensus.contributors',
  ])
})
