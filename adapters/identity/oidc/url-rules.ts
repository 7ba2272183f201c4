// Rules for the URL of an identity provider: https, or a loopback address.

/** Whether the URL is https, or http to loopback; false for an invalid URL, and for one with credentials. */
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
