internal import Foundation

/// Certificates made once with OpenSSL for the chain rules: each of the last ones differs from `intermediate` in one
/// thing. All are valid from 2026-11-21 on.
enum TestAuthority {
    /// P-384, valid to 2036-11-18.
    static let root = decode(
        """
        MIIBwTCCAUegAwIBAgIUe6qFtQqivBigTB/+aHAOK1M9bBMwCgYIKoZIzj0EAwMwIDEeMBwGA1UEAwwVVGVzdCBBdHRlc3RhdGlv\
        biBSb290MB4XDTI2MTEyMTA3NTkwNFoXDTM2MTExODA3NTkwNFowIDEeMBwGA1UEAwwVVGVzdCBBdHRlc3RhdGlvbiBSb290MHYw\
        EAYHKoZIzj0CAQYFK4EEACIDYgAEHFEn+fhPucWWcTkty/zHg0GhvL/pymxuMkRTOlPBaxPo1zcEp3Tvix3H3S0ENxjr6BYWEz6k\
        pM54cwXxavOiQFiK3w/XTxk8MeKV/Aqi8BaZj+HPFJkqKkNDAFtTO69vo0IwQDAPBgNVHRMBAf8EBTADAQH/MA4GA1UdDwEB/wQE\
        AwIBBjAdBgNVHQ4EFgQUP9Gf1H3s112Zj42/k8gDFjTFCJAwCgYIKoZIzj0EAwMDaAAwZQIwfzfer/cAsO/TV7gmEbE4watuMgxX\
        gBEsScRFZG023PjbvOtapabBf10Yt5uRLhwgAjEAlTqXxZ5Mv+6jHMmVLlhXdKkGjMp7+sFDhiW14Pqq2KDJiv5fw2O43ywuP8Yo\
        z3I7
        """
    )

    /// The root's name and key, but pathlen 0.
    static let rootWithPathLength0 = decode(
        """
        MIIBwzCCAUqgAwIBAgIUXOsuztAguH/PlTVgKSyQJoLeTYkwCgYIKoZIzj0EAwMwIDEeMBwGA1UEAwwVVGVzdCBBdHRlc3RhdGlv\
        biBSb290MB4XDTI2MTEyMTA3NTkwNFoXDTM2MTExODA3NTkwNFowIDEeMBwGA1UEAwwVVGVzdCBBdHRlc3RhdGlvbiBSb290MHYw\
        EAYHKoZIzj0CAQYFK4EEACIDYgAEHFEn+fhPucWWcTkty/zHg0GhvL/pymxuMkRTOlPBaxPo1zcEp3Tvix3H3S0ENxjr6BYWEz6k\
        pM54cwXxavOiQFiK3w/XTxk8MeKV/Aqi8BaZj+HPFJkqKkNDAFtTO69vo0UwQzASBgNVHRMBAf8ECDAGAQH/AgEAMA4GA1UdDwEB\
        /wQEAwIBBjAdBgNVHQ4EFgQUP9Gf1H3s112Zj42/k8gDFjTFCJAwCgYIKoZIzj0EAwMDZwAwZAIwGlyEnqm2vV4YtvV2UXp2koQH\
        NqAB4N9shmwCYRZYYcDVhCmOO/WK6MgS15GSVGV9AjACLEGwT8TTaRxjYAmGbvHwPcVa9SZxaEOo02bUh5rcdJHyvXFSt64OgnQI\
        MNIbVhc=
        """
    )

    /// The root's name, another key.
    static let otherRoot = decode(
        """
        MIIBwTCCAUegAwIBAgIUMQxUvDEce6/F0lBhuJ3u6YGA/VIwCgYIKoZIzj0EAwMwIDEeMBwGA1UEAwwVVGVzdCBBdHRlc3RhdGlv\
        biBSb290MB4XDTI2MTEyMTA3NTkwNFoXDTM2MTExODA3NTkwNFowIDEeMBwGA1UEAwwVVGVzdCBBdHRlc3RhdGlvbiBSb290MHYw\
        EAYHKoZIzj0CAQYFK4EEACIDYgAEM3rPNxERXIJNPnU46kqC4w5l80QVtGWJ/eZhDSTUxKcjTSkICvtbY1aKNcUx98DcyzyKt2Vq\
        W5fPfx/X85p2G0mSfmReRrr97bp7BKQ7cW4GepCEj0RzPiZVQakoE4OQo0IwQDAPBgNVHRMBAf8EBTADAQH/MA4GA1UdDwEB/wQE\
        AwIBBjAdBgNVHQ4EFgQUjUU8h9gtzYOP5fm4Kh1FS2l/CBswCgYIKoZIzj0EAwMDaAAwZQIwELdCS3YaxBE8W3IUPQly7Q6Ve2XF\
        RQa9YXZQdhuoVbUEBRqD2K/Agr3X+YbshlNVAjEAgbVxe34yvze5Sz/YqzAkG+rLSbKH6FKujH6I2V7FP4i1B2XUlHuC2pnkG8dn\
        DNWY
        """
    )

    /// Issued by `root`; outlives it: valid 2026-11-21 to 2040-07-30.
    static let intermediate = decode(
        """
        MIIB0zCCAVmgAwIBAgICEjQwCgYIKoZIzj0EAwMwIDEeMBwGA1UEAwwVVGVzdCBBdHRlc3RhdGlvbiBSb290MB4XDTI2MTEyMTA3\
        NTkwNVoXDTQwMDczMDA3NTkwNVowIDEeMBwGA1UEAwwVVGVzdCBBdHRlc3RhdGlvbiBDQSAxMHYwEAYHKoZIzj0CAQYFK4EEACID\
        YgAEgdFjUcYw/K39qAASb1NCjdTrbZlULbikFT9E++awIAzn0B4WVBNiVwCPqvnmEfL+Qw69+n1OIpja7efKkNkkDbTdcVRtvhzR\
        sp5sgiZ8cOqnt4/t0gh2ZVMuoQsDSULYo2YwZDASBgNVHRMBAf8ECDAGAQH/AgEAMA4GA1UdDwEB/wQEAwIBBjAdBgNVHQ4EFgQU\
        WpB2+XJ3zgvf/zIBTHSpnV6TD7AwHwYDVR0jBBgwFoAUP9Gf1H3s112Zj42/k8gDFjTFCJAwCgYIKoZIzj0EAwMDaAAwZQIwQh14\
        R41HN/krDCazlkfW7+0CJn/fuSCxlxH07VSdtITjBTbGi3LedKZCxysXsIHkAjEAgiM5YeqKrLUNh25M7IvZ1aQJVAqNDu0F0CBt\
        NFX/rGxu9j8F0WuOFsvgJSN8mRoe
        """
    )

    /// With a P-256 key.
    static let p256 = decode(
        """
        MIIBtjCCATygAwIBAgICEjQwCgYIKoZIzj0EAwMwIDEeMBwGA1UEAwwVVGVzdCBBdHRlc3RhdGlvbiBSb290MB4XDTI2MTEyMTA3\
        NTkwNVoXDTQwMDczMDA3NTkwNVowIDEeMBwGA1UEAwwVVGVzdCBBdHRlc3RhdGlvbiBDQSAxMFkwEwYHKoZIzj0CAQYIKoZIzj0D\
        AQcDQgAEpNr7dXnPLpurFiyXD8241xEFXn0jCqlRsjjd+Sq1dpQNu4NVWovibViNunTfRx2CSSLgN0Dj65vmxmtCITjKr6NmMGQw\
        EgYDVR0TAQH/BAgwBgEB/wIBADAOBgNVHQ8BAf8EBAMCAQYwHQYDVR0OBBYEFCIY1T4+dfUg73S/l8gB5fayoAWzMB8GA1UdIwQY\
        MBaAFD/Rn9R97NddmY+Nv5PIAxY0xQiQMAoGCCqGSM49BAMDA2gAMGUCMALQIei5IwR7fId5UNmJWJcsxwnmagYCUrZNOpFJV4ay\
        DwIPdUoKserQoTjNrQgGOwIxAMOzsDAEVgBmIBYAHFT7sO04fA5HzaYVVcShQV1btEL3sQx9bwBmSZ4av7apum9swg==
        """
    )

    /// With a P-521 key.
    static let p521 = decode(
        """
        MIIB+jCCAX+gAwIBAgICEjQwCgYIKoZIzj0EAwMwIDEeMBwGA1UEAwwVVGVzdCBBdHRlc3RhdGlvbiBSb290MB4XDTI2MTEyMTA3\
        NTkwNVoXDTQwMDczMDA3NTkwNVowIDEeMBwGA1UEAwwVVGVzdCBBdHRlc3RhdGlvbiBDQSAxMIGbMBAGByqGSM49AgEGBSuBBAAj\
        A4GGAAQAtomS7/Zj21dGNuWb0oEwWl03NL/OIUMn2X/JFbWg39ZHgzhWrrnrT25mD0qM34+CxG2frMyJuS0fDBzi/I8cdLEASOL5\
        ZOnIQnvHHFBMp1oHytwISzXRwXdpiD5rBxbMEyBjlvAfKugGhG4wIzQeqfVmVtOWYUm6/Z4aApi1BYPIOKijZjBkMBIGA1UdEwEB\
        /wQIMAYBAf8CAQAwDgYDVR0PAQH/BAQDAgEGMB0GA1UdDgQWBBQgvGw8hdlRvlob1wXQ4JG3DG2+8jAfBgNVHSMEGDAWgBQ/0Z/U\
        fezXXZmPjb+TyAMWNMUIkDAKBggqhkjOPQQDAwNpADBmAjEAgTK9Msn0FOPMwuD7tMWr6FHFklSosXWVGbkLFcRQSuf+EZNP89o2\
        KdDu9Q0OMQCKAjEA7Zv1C9IoY4etRu9hUeInIEO/LNSWHm+AttAQnZU3o+DyZiBX/JaKz3OJCl9jQY8+
        """
    )

    /// cA is FALSE.
    static let notCA = decode(
        """
        MIIBvTCCAUOgAwIBAgICEjQwCgYIKoZIzj0EAwMwIDEeMBwGA1UEAwwVVGVzdCBBdHRlc3RhdGlvbiBSb290MB4XDTI2MTEyMTA3\
        NTkwNVoXDTQwMDczMDA3NTkwNVowIDEeMBwGA1UEAwwVVGVzdCBBdHRlc3RhdGlvbiBDQSAxMHYwEAYHKoZIzj0CAQYFK4EEACID\
        YgAEgdFjUcYw/K39qAASb1NCjdTrbZlULbikFT9E++awIAzn0B4WVBNiVwCPqvnmEfL+Qw69+n1OIpja7efKkNkkDbTdcVRtvhzR\
        sp5sgiZ8cOqnt4/t0gh2ZVMuoQsDSULYo1AwTjAMBgNVHRMBAf8EAjAAMB0GA1UdDgQWBBRakHb5cnfOC9//MgFMdKmdXpMPsDAf\
        BgNVHSMEGDAWgBQ/0Z/UfezXXZmPjb+TyAMWNMUIkDAKBggqhkjOPQQDAwNoADBlAjBGuYBLhFfML0wa+g++XZnqVUE8AAsmxRrd\
        3LdVZe8kvu8sgkgAie1tZ8gAnT1TRzYCMQCj9l595QRrEESfrJG2cANXOs/3KP3923f+dnkYXZTAeqiWYIRz/giXX+IHynCoTAg=
        """
    )

    /// cA without keyCertSign.
    static let mayNotSign = decode(
        """
        MIIB1DCCAVmgAwIBAgICEjQwCgYIKoZIzj0EAwMwIDEeMBwGA1UEAwwVVGVzdCBBdHRlc3RhdGlvbiBSb290MB4XDTI2MTEyMTA3\
        NTkwNVoXDTQwMDczMDA3NTkwNVowIDEeMBwGA1UEAwwVVGVzdCBBdHRlc3RhdGlvbiBDQSAxMHYwEAYHKoZIzj0CAQYFK4EEACID\
        YgAEgdFjUcYw/K39qAASb1NCjdTrbZlULbikFT9E++awIAzn0B4WVBNiVwCPqvnmEfL+Qw69+n1OIpja7efKkNkkDbTdcVRtvhzR\
        sp5sgiZ8cOqnt4/t0gh2ZVMuoQsDSULYo2YwZDASBgNVHRMBAf8ECDAGAQH/AgEAMA4GA1UdDwEB/wQEAwIBAjAdBgNVHQ4EFgQU\
        WpB2+XJ3zgvf/zIBTHSpnV6TD7AwHwYDVR0jBBgwFoAUP9Gf1H3s112Zj42/k8gDFjTFCJAwCgYIKoZIzj0EAwMDaQAwZgIxAOVi\
        vjRCYZm+9yNFH88xBOo2aJ1pqG5s+pSEyhm1TyobIWjMDqXkvCb2rSpnUzgltQIxANLtoa45ZNhNvrYEtImD3yST8xctZF3LGNYe\
        iSzY7sFsqToho2sB4H83WWC+zYKcGA==
        """
    )

    /// A critical extension 1.2.3.4.5.
    static let unknownCritical = decode(
        """
        MIIB4zCCAWigAwIBAgICEjQwCgYIKoZIzj0EAwMwIDEeMBwGA1UEAwwVVGVzdCBBdHRlc3RhdGlvbiBSb290MB4XDTI2MTEyMTA3\
        NTkwNVoXDTQwMDczMDA3NTkwNVowIDEeMBwGA1UEAwwVVGVzdCBBdHRlc3RhdGlvbiBDQSAxMHYwEAYHKoZIzj0CAQYFK4EEACID\
        YgAEgdFjUcYw/K39qAASb1NCjdTrbZlULbikFT9E++awIAzn0B4WVBNiVwCPqvnmEfL+Qw69+n1OIpja7efKkNkkDbTdcVRtvhzR\
        sp5sgiZ8cOqnt4/t0gh2ZVMuoQsDSULYo3UwczASBgNVHRMBAf8ECDAGAQH/AgEAMA4GA1UdDwEB/wQEAwICBDANBgQqAwQFAQH/\
        BAIFADAdBgNVHQ4EFgQUWpB2+XJ3zgvf/zIBTHSpnV6TD7AwHwYDVR0jBBgwFoAUP9Gf1H3s112Zj42/k8gDFjTFCJAwCgYIKoZI\
        zj0EAwMDaQAwZgIxAICDNb1Sv1XflUXJzd1oBZnXe58b7hqYU+/5Y8vkQqWnCirGaQ+lz323j1PSVg0eygIxANkxkhuFVFcFtV9d\
        d94EywxvCqjQWE1kzDRMnubyQJWLxIzG1Zhsgp5M0VbpN0mfSQ==
        """
    )

    /// Issued by `otherRoot`.
    static let ofOtherRoot = decode(
        """
        MIIB0zCCAVmgAwIBAgICEjQwCgYIKoZIzj0EAwMwIDEeMBwGA1UEAwwVVGVzdCBBdHRlc3RhdGlvbiBSb290MB4XDTI2MTEyMTA3\
        NTkwNVoXDTQwMDczMDA3NTkwNVowIDEeMBwGA1UEAwwVVGVzdCBBdHRlc3RhdGlvbiBDQSAxMHYwEAYHKoZIzj0CAQYFK4EEACID\
        YgAEgdFjUcYw/K39qAASb1NCjdTrbZlULbikFT9E++awIAzn0B4WVBNiVwCPqvnmEfL+Qw69+n1OIpja7efKkNkkDbTdcVRtvhzR\
        sp5sgiZ8cOqnt4/t0gh2ZVMuoQsDSULYo2YwZDASBgNVHRMBAf8ECDAGAQH/AgEAMA4GA1UdDwEB/wQEAwIBBjAdBgNVHQ4EFgQU\
        WpB2+XJ3zgvf/zIBTHSpnV6TD7AwHwYDVR0jBBgwFoAUjUU8h9gtzYOP5fm4Kh1FS2l/CBswCgYIKoZIzj0EAwMDaAAwZQIxAPT/\
        MYWj/FwO+i5CMBtjKk6F35yeeHhGJI/pHoEuOSf6Xae466OFSZ7QHqsqVEVufQIwPlXZix1cZ1oaQQEz5Fy5q72DNo5YRICLMqCZ\
        AFhn3gy0newNzrquctd2DrK11tus
        """
    )

    private static func decode(_ base64: String) -> [UInt8] { Data(base64Encoded: base64).map { [UInt8]($0) } ?? [] }
}
