// What lies in quarantine, newest first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation.ts'
import { quarantinesPart } from '../parts.ts'
import { quarantineEntry } from './model.ts'

export const list = operation({
  summary: 'List quarantined messages',
  method: 'GET',
  path: '/api/v2/site/quarantine',
  input: z.strictObject({ peer: z.string().max(64).optional(), limit: z.int().min(1).max(500).default(50) }),
  output: z.strictObject({ items: z.array(quarantineEntry) }).meta({ id: 'QuarantineList' }),
  errors: [],
  allow: 'quarantine:read',

  run: async (call, { peer, limit }) => ({ items: await call.part(quarantinesPart).list(peer, limit) }),
})
