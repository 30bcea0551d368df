import { expect, test } from 'vitest';
import { isPublicAddress } from './public-address.ts';

const PUBLIC = [
  '8.8.8.8',
  '203.0.114.1',
  '172.32.0.1',
  '168.63.129.17',
  '100.128.0.1',
  '2606:4700:4700::1111',
  '2a00:1450::1',
];

const OTHERS: Record<string, string[]> = {
  unspecified: ['0.0.0.0', '0.1.2.3', '::'],
  loopback: ['127.0.0.1', '127.255.255.254', '::1'],
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  'link-local': ['169.254.169.254', 'fe80::1', 'febf::1'],
  'unique local': ['fc00::1', 'fd12:3456::1'],
  'site-local': ['fec0::1'],
  'carrier-grade NAT': ['100.64.0.1', '100.127.255.255'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
  broadcast: ['255.255.255.255'],
  reserved: ['240.0.0.1', '192.0.0.1', '192.0.0.170', '5f00::1', '100::1', '4000::1'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  benchmarking: ['198.18.0.1', '198.19.255.255', '2001:2::1'],
  mapped: ['::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:0:8.8.8.8'],
  compatible: ['::127.0.0.1', '::8.8.8.8'],
  NAT64: ['64:ff9b::7f00:1', '64:ff9b::808:808', '64:ff9b:1::1'],
  '6to4': ['2002:7f00:1::1', '2002:808:808::1', '192.88.99.1'],
  Teredo: ['2001::1', '2001:0:7f00:1::1'],
  ORCHID: ['2001:10::1', '2001:20::1'],
  'of a cloud': ['168.63.129.16'],
  'no address': [
    '',
    'localhost',
    '1.2.3',
    '0x7f000001',
    '2130706433',
    '127.1',
    '010.0.0.1',
    '::1%lo',
    '8.8.8.8 ',
  ],
};

test.for(PUBLIC)('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.for(Object.entries(OTHERS))('addresses of the kind "%s" are not public', ([, addresses]) => {
  expect(addresses.filter(isPublicAddress)).toEqual([]);
});
