// A guardrail: the calls that it is for, and how it restricts them. It adds to permissions, and never grants one.
import * as z from 'zod'

const word = z.string().min(1).max(128)
/** A name in which `*` stands for any characters. */
const namePattern = z.string().min(1).max(256)
const listOf = <T extends z.ZodType>(item: T) => z.array(item).min(1).max(64)

/** REST that the gateway forwards, tools of other services, conversations, resources of other services. */
export const callKind = z.enum(['rest', 'tool', 'chat', 'resource'])
export type CallKind = z.infer<typeof callKind>

export const guardrail = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and hyphens, at most 63')
      .meta({ description: 'Shown to callers that it refuses, in audit records and in metrics' }),
    kinds: listOf(callKind).optional(),
    roles: listOf(word).optional().meta({ description: 'Callers with one of these roles' }),
    subjects: listOf(namePattern).optional(),
    services: listOf(namePattern).optional().meta({ description: 'By the names of service-info' }),
    tools: listOf(namePattern)
      .optional()
      .meta({ description: 'As the gateway offers them: service__tool, or the URI of a resource' }),
    methods: listOf(z.string().regex(/^[A-Z-]{1,32}$/)).optional(),
    paths: listOf(z.string().max(256).startsWith('/')).optional(),
    deny: z.boolean().default(false).meta({ description: 'Refuses every call that it is for' }),
    calls_per_minute: z.int().min(1).max(1_000_000).optional().meta({ description: 'Of one caller' }),
    calls_per_day: z.int().min(1).max(100_000_000).optional().meta({ description: 'Of one caller' }),
    max_body_bytes: z.int().min(0).max(1_099_511_627_776).optional(),
    deny_patterns: listOf(z.string().min(1).max(1_024))
      .optional()
      .meta({ description: 'Expressions of RE2, searched in the arguments of tools, in messages, in path and query' }),
    label_ceiling: word.optional().meta({
      description: 'Level up to which data is available to the call; a REST call of a caller cleared higher is refused',
    }),
  })
  .meta({ id: 'Guardrail' })
export type Guardrail = z.infer<typeof guardrail>

/** A call as guardrails see it. */
export type GuardedCall = {
  readonly kind: CallKind
  readonly tenant_id: string
  readonly subject: string
  readonly roles: readonly string[]
  /** Level of its clearance; undefined for none. */
  readonly level: string | undefined
  /** Undefined for chat, which is the gateway's own. */
  readonly service: string | undefined
  /** As the gateway offers it: of a resource, its URI. */
  readonly tool?: string | undefined
  readonly method?: string | undefined
  /** In its normal form, with its query. */
  readonly path?: string | undefined
  /** Undefined where it is not announced. */
  readonly body_bytes: number | undefined
  /** Texts of the caller's. */
  readonly texts: readonly string[]
}
