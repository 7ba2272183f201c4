// A finding of the doctor: one sentence, its severity, and the repair.
import * as z from 'zod'
import type { DoctorCode } from './doctor-codes.ts'

export const doctorFinding = z
  .strictObject({
    code: z.string().meta({ description: 'Stable name of the finding; doctor-codes.ts lists them' }),
    check: z.string(),
    state: z.enum(['ok', 'warning', 'problem']).meta({
      description: 'A warning becomes a problem if nothing is done',
    }),
    detail: z.string(),
    remedy: z.string().optional(),
    paths: z.array(z.string()).readonly().optional().meta({ description: 'The paths that it concerns, if any' }),
  })
  .readonly()
export type DoctorFinding = z.infer<typeof doctorFinding>

export const day_ms = 86_400_000

/** Lead time of warnings before an expiry: procurement and approvals take time. */
const expiry_notice_days = 30

export function reportOk(check: string, detail: string): DoctorFinding {
  return { code: `${check}.ok`, check, state: 'ok', detail }
}

export function reportWarning(code: DoctorCode, detail: string, remedy: string): DoctorFinding {
  return { code, check: checkOf(code), state: 'warning', detail, remedy }
}

export function reportProblem(code: DoctorCode, detail: string, remedy: string): DoctorFinding {
  return { code, check: checkOf(code), state: 'problem', detail, remedy }
}

const checkOf = (code: DoctorCode) => code.slice(0, code.indexOf('.'))

/** The finding for an expiry at an instant (epoch milliseconds); undefined while that is far off. */
export function reportExpiry(
  code: DoctorCode,
  subject: string,
  end: number,
  now: number,
  remedy: string,
): DoctorFinding | undefined {
  const date = new Date(end).toISOString().slice(0, 10)
  if (end <= now) return reportProblem(code, `${subject} ended on ${date}`, remedy)
  if (end - now < expiry_notice_days * day_ms) return reportWarning(code, `${subject} ends on ${date}`, remedy)
  return undefined
}
