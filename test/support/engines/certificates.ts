// An authority of a test's own, and a certificate of it for a server on this machine.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { ServerCertificates } from './redis.ts'

const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']

/** PEM files in the folder, which is made: for localhost and 127.0.0.1, for a month. */
export function certificates(folder: string): ServerCertificates {
  mkdirSync(folder, { recursive: true })
  const at = (name: string) => path.join(folder, name)
  const openssl = (...words: string[]) => execFileSync('openssl', words, { stdio: 'ignore', cwd: folder })
  openssl('req', '-x509', ...key, '-days', '30', '-subj', '/CN=test authority', '-keyout', 'ca.key', '-out', 'ca.pem')
  openssl('req', '-new', ...key, '-subj', '/CN=localhost', '-keyout', 'server.key', '-out', 'server.csr')
  writeFileSync(at('server.ext'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n')
  const authority = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial']
  openssl(
    'x509',
    '-req',
    '-in',
    'server.csr',
    ...authority,
    '-days',
    '30',
    '-extfile',
    'server.ext',
    '-out',
    'server.pem',
  )
  return { ca: at('ca.pem'), cert: at('server.pem'), key: at('server.key') }
}
