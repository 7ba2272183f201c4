// Variables of Node are gone, those of the product and of the system stay.
import { expect, test } from 'vitest'
import { dropRuntimeVariables } from './runtime-variables.ts'

test('variables that Node or its libraries read are removed, all others stay', () => {
  const env = {
    ...{ NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_OPTIONS: '--inspect', NODE_EXTRA_CA_CERTS: '/x', NODE_DEBUG: 'http' },
    ...{ OPENSSL_CONF: '/x', SSL_CERT_FILE: '/x', PKG_NATIVE_CACHE_PATH: '/x', DEBUG_PKG: '1' },
    ...{ PATH: '/bin', PLATFORM_SITE: '/site', NODENAME: 'a', SSL_MODE: 'b' },
  }
  dropRuntimeVariables(env)
  expect(env).toEqual({ PATH: '/bin', PLATFORM_SITE: '/site', NODENAME: 'a', SSL_MODE: 'b' })
})
