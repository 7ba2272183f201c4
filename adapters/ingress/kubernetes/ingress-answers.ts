// Answers of the API server about ingresses: what of them is read, checked before anything else uses it.
import * as z from 'zod'
import type { ObservedIngress } from '../../../daemon/shared/routing/cluster-ingresses.ts'

const texts = z.record(z.string(), z.string()).optional()

const ingress = z.object({
  metadata: z.object({
    name: z.string().min(1).max(253),
    uid: z.string().min(1).max(128),
    resourceVersion: z.string().min(1).max(128),
    labels: texts,
    annotations: texts,
    deletionTimestamp: z.string().optional(),
  }),
  spec: z.looseObject({}).optional(),
})
export type IngressAnswer = z.infer<typeof ingress>

const ingressPage = z.object({
  metadata: z.object({ resourceVersion: z.string().min(1).max(128), continue: z.string().optional() }),
  items: z.array(ingress).optional(),
})

const status = z.object({ message: z.string().max(65_536).optional(), reason: z.string().max(256).optional() })

const watchEvent = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['ADDED', 'MODIFIED', 'DELETED']), object: ingress }),
  z.object({
    type: z.literal('BOOKMARK'),
    object: z.object({ metadata: z.object({ resourceVersion: z.string().min(1).max(128) }) }),
  }),
  z.object({ type: z.literal('ERROR'), object: status.extend({ code: z.int().optional() }) }),
])

/** The API server answered something else than its interface says, or refused. `status`: of HTTP; 0 for a fault of the answer. */
export class ClusterAnswerError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.name = 'ClusterAnswerError'
    this.status = status
  }
}

const readAs =
  <T extends z.ZodType>(schema: T, name: string) =>
  (value: unknown): z.output<T> => {
    const parsed = schema.safeParse(value)
    if (parsed.success) return parsed.data
    const where = parsed.error.issues[0]?.path.join('.') ?? ''
    throw new ClusterAnswerError(0, `the API server sent ${name} that is wrong${where ? ` in ${where}` : ''}`)
  }

export const readIngress = readAs(ingress, 'an ingress')
export const readIngressPage = readAs(ingressPage, 'a list of ingresses')
export const readWatchEvent = readAs(watchEvent, 'an event')

/** The first part of what it says: a message may repeat the whole object. */
export function describeRefusal(http_status: number, value: unknown): string {
  const { message } = status.safeParse(value).data ?? {}
  const text = message === undefined ? '' : `: ${message.replace(/\s+/g, ' ').slice(0, 300)}`
  return `the API server answered ${http_status}${text}`
}

export function observeIngress(answer: IngressAnswer, digest: (answer: IngressAnswer) => string): ObservedIngress {
  const { name, uid, resourceVersion: resource_version, deletionTimestamp } = answer.metadata
  return { name, uid, resource_version, sha256: digest(answer), isEnding: deletionTimestamp !== undefined }
}
