// Verifies a captured response: its status, or the value at a path of its body.
import * as z from 'zod'
import { keyPath } from '../journey-test/key-path.ts'
import { matcherFields } from '../journey-test/matcher.ts'
import { refineVerification, statusField } from '../journey-test/verification.ts'
import { operator } from './operator.ts'

export const verifyResponseJson = operator({
  name: 'verify_response_json',
  summary: 'Verify the response of a test_call: its status, or the value at a path of its JSON',
  inputs: { min: 1, max: 1 },
  makes_dataset: false,
  params: refineVerification(z.strictObject({ path: keyPath.optional(), ...statusField, ...matcherFields })),
})
