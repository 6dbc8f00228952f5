/**
 * Addresses that are public by their number and yet lead to a service of the platform that a machine
 * runs on, or to nothing else: whoever asks from there is trusted by them. Those in ranges that are
 * private anyway (169.254.0.0/16, 100.64.0.0/10, 192.0.0.0/24, fc00::/7) are not repeated here.
 */
export const PLATFORM_ADDRESSES: readonly string[] = [
  // Azure: DNS, DHCP, and the service that hands a machine its goal state and certificates.
  // https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
  "168.63.129.16/32",
  // IBM Cloud: infrastructure services and service endpoints of its private network.
  // https://cloud.ibm.com/docs/vpc?topic=vpc-service-endpoints-for-vpc
  "161.26.0.0/16",
  "166.8.0.0/14",
  // Google Cloud: restricted.googleapis.com and private.googleapis.com.
  // https://cloud.google.com/vpc/docs/configure-private-google-access-hybrid
  "199.36.153.4/30",
  "199.36.153.8/30",
  "2600:2d00:2:1000::/56",
  "2600:2d00:2:2000::/56",
  // Equinix Metal: metadata.packet.net and metadata.platformequinix.com.
  // https://deploy.equinix.com/developers/docs/metal/server-metadata/metadata/
  "192.80.8.124/32",
  // Tencent Cloud: the name servers of its private networks.
  // https://cloud.tencent.com/document/product/1689/90577
  "183.60.82.98/32",
  "183.60.83.19/32",
]
