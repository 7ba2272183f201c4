// Where an identity provider may be: behind TLS, or on this machine.

/** Whether the URL is https, or http to loopback; false for what is no URL, and for one with a password in it. */
export function isAllowedProviderUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url?.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackUrl(text))
}

export function isLoopbackUrl(text: string): boolean {
  const { hostname = '' } = URL.parse(text) ?? {}
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

/** OpenID Connect Discovery 1.0, section 4. */
export function discoveryUrl(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
}
