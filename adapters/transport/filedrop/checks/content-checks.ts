// The body: the bytes that were signed for, under a label that may cross, in the shape that a guard could read.
import { canonical, sha384 } from '../../../../daemon/kernel/canonical.ts'
import { isRefused } from '../../../../daemon/kernel/errors.ts'
import { label } from '../../../../daemon/kernel/label.ts'
import { messageBody, unlabelledBody } from '../../../../daemon/kernel/transport.ts'
import { type Fault, fault } from '../reasons.ts'
import { announcementFault } from './announcement-check.ts'
import type { Place } from './checks.ts'
import { shapeFault } from './file-checks.ts'
import { enteringAs, enteringFrom, namedLabel } from './released-label.ts'
import { bytesOf, known, passesOver, type Specimen } from './specimen.ts'
import { strictJson } from './strict-json.ts'

export function digestCheck(specimen: Specimen): Fault | undefined {
  const { sha384: declared, length } = known(specimen, 'statement').body
  const body = bytesOf(specimen.body)
  if (body.length !== length) return fault('BODY_DIGEST', `${body.length} bytes where ${length} were signed for`)
  return sha384(body) === declared ? undefined : fault('BODY_DIGEST', 'not the bytes that were signed for')
}

export function labelCheck(specimen: Specimen, place: Place): Fault | undefined {
  const own = known(specimen, 'statement').label ?? undefined
  const named = namedLabel(specimen)
  if (own === undefined && !named) return fault('LABEL_MISSING', 'a missing label is a denial')
  const parsed = named ?? label.safeParse(own).data
  if (!parsed) return fault('LABEL_DENIED', 'the label cannot be read')
  specimen.label = parsed
  const entered = named ? enteringAs(named, specimen, place) : enteringFrom(parsed, specimen, place)
  if (isRefused(entered)) return fault('LABEL_DENIED', entered.message)
  specimen.entered = entered
  return undefined
}

export function contentCheck(specimen: Specimen): Fault | undefined {
  const read = strictJson(bytesOf(specimen.body))
  if (read.outcome === 'incomplete') return fault('BAD_JSON', 'the body does not end')
  if (read.outcome !== 'value') return fault(read.outcome, `the body: ${read.detail}`)
  const mayLackLabel = passesOver(specimen, 'LABEL_MISSING')
  if (!mayLackLabel && !hasLabel(read.value)) return fault('LABEL_MISSING', 'the body does not repeat the label')
  const parsed = (mayLackLabel ? unlabelledBody : messageBody).safeParse(read.value)
  if (!parsed.success) return shapeFault('the body', parsed.error, 'SCHEMA')
  const signed = known(specimen, 'statement')
  const held = specimen.label ?? label.safeParse(signed.label).data
  if (!held) return fault('LABEL_MISSING', 'the statement has no label that can be read')
  const repeated = parsed.data.label ?? held
  if (!namedLabel(specimen) && canonical(repeated) !== canonical(held)) {
    return fault('LABEL_DENIED', 'the label of the body is not that of the statement')
  }
  if (parsed.data.schema !== signed.body.schema) return fault('SCHEMA', 'the body names another schema')
  specimen.content = { ...parsed.data, label: repeated }
  return announcementFault(specimen)
}

function hasLabel(value: unknown): boolean {
  return typeof value !== 'object' || value === null || ('label' in value && value.label != null)
}
