/** The answer of the signed-in route, in every variant. */
export const profile = {
  name: 'Someone',
  locale: 'en-GB',
  plan: { name: 'team', seats: 12, renews: '2027-01-31' },
  features: ['export', 'audit', 'sso'],
}
