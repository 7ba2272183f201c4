// The body: the bytes that were signed for, under a label that may cross, in the shape that a guard could read.
import { canonical, sha384 } from '../../../daemon/kernel/canonical.ts'
import { label } from '../../../daemon/kernel/label.ts'
import { messageBody } from '../../../daemon/kernel/transport.ts'
import type { Place } from './checks.ts'
import { shapeFault } from './file-checks.ts'
import { labelDenial } from './label-gate.ts'
import { type Fault, fault } from './reasons.ts'
import { bytesOf, known, type Specimen } from './specimen.ts'
import { strictJson } from './strict-json.ts'

export function digestCheck(specimen: Specimen): Fault | undefined {
  const { sha384: declared, length } = known(specimen, 'statement').body
  const body = bytesOf(specimen.body)
  if (body.length !== length) return fault('BODY_DIGEST', `${body.length} bytes where ${length} were signed for`)
  return sha384(body) === declared ? undefined : fault('BODY_DIGEST', 'not the bytes that were signed for')
}

export function labelCheck(specimen: Specimen, place: Place): Fault | undefined {
  const given = known(specimen, 'statement').label
  if (given === undefined || given === null) return fault('LABEL_MISSING', 'a missing label is a denial')
  const parsed = label.safeParse(given)
  if (!parsed.success) return fault('LABEL_DENIED', 'the label cannot be read')
  specimen.label = parsed.data
  const receiver = [place.tenant_id, ...place.releasable_names]
  const denial = labelDenial(parsed.data, place.peer, receiver, place.label_policy)
  return denial === undefined ? undefined : fault('LABEL_DENIED', denial)
}

export function contentCheck(specimen: Specimen): Fault | undefined {
  const read = strictJson(bytesOf(specimen.body))
  if (read.outcome === 'incomplete') return fault('BAD_JSON', 'the body does not end')
  if (read.outcome !== 'value') return fault(read.outcome, `the body: ${read.detail}`)
  if (!hasLabel(read.value)) return fault('LABEL_MISSING', 'the body does not repeat the label')
  const parsed = messageBody.safeParse(read.value)
  if (!parsed.success) return shapeFault('the body', parsed.error, 'SCHEMA')
  const signed = known(specimen, 'statement')
  const signedLabel = label.safeParse(signed.label)
  if (!signedLabel.success) return fault('LABEL_MISSING', 'the statement has no label that can be read')
  if (canonical(parsed.data.label) !== canonical(signedLabel.data)) {
    return fault('LABEL_DENIED', 'the label of the body is not that of the statement')
  }
  if (parsed.data.schema !== signed.body.schema) return fault('SCHEMA', 'the body names another schema')
  specimen.content = parsed.data
  return undefined
}

function hasLabel(value: unknown): boolean {
  return typeof value !== 'object' || value === null || ('label' in value && value.label != null)
}
