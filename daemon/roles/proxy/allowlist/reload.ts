// Reloads profile and certificate. Allowlist and limits change without dropping a request, or nothing changes at all.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { dataPlanePart } from '../parts.ts'

export const reload = operation({
  summary: 'Reload the profile and the certificate, and apply allowlist, limits and certificate',
  method: 'POST',
  path: '/api/v2/proxy/allowlist/reload',
  input: z.strictObject({}),
  output: z
    .strictObject({
      applied: z.array(z.string()).meta({ description: 'Changed settings that are in force' }),
      needs_restart: z.array(z.string()).meta({ description: 'Changed settings that need a restart' }),
      rules: z.int().min(0).meta({ description: 'Rules in force' }),
    })
    .meta({ id: 'ProxyReload' }),
  errors: [],
  allow: 'proxy:write',

  async run(call) {
    const result = await call.part(dataPlanePart).reload()
    if (isRefusal(result)) return result
    await call.record([call.audited('proxy.allowlist.reload', call.site.name, result)])
    return result
  },
})
