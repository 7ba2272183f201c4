// The setting of the algorithms that a site may use.
import * as z from 'zod'
import { settingsBlock } from './settings.ts'

const cryptographyPolicy = z.enum(['any', 'fips'])
export type CryptographyPolicy = z.infer<typeof cryptographyPolicy>

export const cryptographySettings = settingsBlock('cryptography', {
  policy: cryptographyPolicy.default('any').meta({
    doc: 'fips: only algorithms that FIPS 140-3 approves: cipher suites and curves of TLS, and no exchanges that blind records by X25519; docs/release.md lists them.',
  }),
})
