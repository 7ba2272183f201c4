// Calls a service as a hop of a journey test does, and captures its response as a dataset of one row.
import * as z from 'zod'
import { max_tasks } from '../../../shared/assembled-dag/assembled-dag.ts'
import { hopFields, referencesOf, refineHop } from '../journey-test/hop.ts'
import { operator } from './operator.ts'

export const testCall = operator({
  name: 'test_call',
  summary: 'Send one REST request or call one MCP tool at a target of the profile, and capture the response',
  // Responses from which it takes values.
  inputs: { min: 0, max: max_tasks },
  makes_dataset: true,
  params: refineHop(z.strictObject(hopFields)),
  findInputFault(params, inputs) {
    const unknown = referencesOf(params).find(({ hop }) => !inputs.includes(hop))
    return unknown && `takes a value of ${unknown.hop}, which is not a task before it that makes a dataset`
  },
})
