// Reads the profile again, and the certificate: the allowlist and the limits change without a request being dropped, or nothing changes at all.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { dataPlanePart } from '../parts.ts'

export const reload = operation({
  summary: 'Read the profile and the certificate again, and go by allowlist, limits and certificate',
  method: 'POST',
  path: '/api/v2/proxy/allowlist/reload',
  input: z.strictObject({}),
  output: z
    .strictObject({
      applied: z.array(z.string()).meta({ description: 'Settings that changed, and are in force' }),
      needs_restart: z.array(z.string()).meta({ description: 'Settings that changed, and want a restart' }),
      rules: z.int().min(0).meta({ description: 'Rules in force' }),
    })
    .meta({ id: 'ProxyReload' }),
  errors: [],
  allow: 'proxy:write',

  async run(call) {
    const done = await call.part(dataPlanePart).reload()
    if (isRefusal(done)) return done
    await call.record([call.audited('proxy.allowlist.reload', call.site.name, done)])
    return done
  },
})
