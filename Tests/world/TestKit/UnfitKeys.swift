/// Keys made with the openssl command that no worker signs with; they guard nothing.
package enum UnfitKeys {
    /// RSA of 1024 bits.
    package static let rsa1024 = """
        -----BEGIN PRIVATE KEY-----
        MIICdQIBADANBgkqhkiG9w0BAQEFAASCAl8wggJbAgEAAoGBAK+GtG5nUcQUshBK
        HdvyCWwcmXlY9jnLFBZXIAPNIiqPuZwrBZV2ihpsqnUp0wqEQxXrCMpsx01AxEoU
        6KetLO7O7C249VsAStHFQbgpuDCfM8Jp93mh+DJLHvQDzvjbOpG7baF7dxof8/AU
        ygVJ7LUIqU9g7X6AWdMz/4WFtu1HAgMBAAECgYBBT/xfgG56acEAMrP9nYhIBDRP
        ZPzp8FjfHzg4ceIeuDA2ngOL4/nrbzfWNOPka+aSh0xUFjnq0wi3ECSqD9RBwhCH
        dAbRPK/MNS3MqrxsnV+iURzw2kqPdnFPJu94h1lrFADdS7f0au37tVo9Y5AEStfa
        je7rI6Th4qtv8GJ24QJBAOD6sGg/AH2SJX8U3Rs+PBM+sRvmHHgoWOwckXjgq0bE
        zCl7nw2m+CZs89CMQPmoOdjUqpzJLWsPQ63r8SgQ5okCQQDHumxIL2wW1bi229sn
        6WLRaIakTgVN+PtvwXh7B9biBL9nSGSZOAns55nIbjIvlWEEaPv2nvZKxFciVU+A
        f0FPAkAIuC6WG7r9IujpH/nh0Guro0Zh+m0oCwhHPmQ09yAsQfxXrz7e3JXJh3d7
        obPy+R4k1Tk3kmR8Pb81wms6Tk1hAkBX4fKlbKBuB8qIQ4NSM4J0zD56a44v+f+A
        9Ct0T0XBG/+wjY0eUicj4+Cp7bsNbvhKfXto0BdlXLFOfSVHUDdHAkAFWo7lexQA
        +lBu2UWLUUVxIJQ7pCBaCbyAfEXdO76VakvdC6+YfVdqg5bCbbQpaBbw05lgt0Oj
        A8U9h5cTA9SW
        -----END PRIVATE KEY-----
        """
    /// On P-384.
    package static let p384 = """
        -----BEGIN EC PRIVATE KEY-----
        MIGkAgEBBDAv8c/S9c+ZiUfJ/le0/xEWPiUBHB1meSVOVGpbirdAZTzuH29iGLCW
        ZN/tbBnProOgBwYFK4EEACKhZANiAAQOzpNL98EgtV6YKM7AShNesLPMupAwfhdf
        ecsty1H+Cx5FujzP8lllHwpmOyGGp0MaHdaKZCGD5jXuKS5jk2BpO9E11Uc1VgWp
        4g8mMrn0cgrURfHgL5pyIb1ckkTgxKg=
        -----END EC PRIVATE KEY-----
        """
    /// P-256, encrypted with the passphrase `secret`.
    package static let encrypted = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgAuM2L2UM6QwICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEERzOIgk+UaKLzCbHJQ48jAEgZAR
        plilb6XLV6XtRhofYdvg5RJYGHcb7F6hHCgW/Bb40BnX2GabfCueGsi0J4x+Du9S
        pSWgXzM/107jHOjCxMxBh960Mc48aCzut3BBYngwFf/ZHWkZnOjQ33RjNjjEYkUl
        nVmOgvUCs9AjdpZy9HEI3Z6p4rbAeVlc7SYl2xmnCR5A/BfIzhgvTT215kGWx5o=
        -----END ENCRYPTED PRIVATE KEY-----
        """
}
